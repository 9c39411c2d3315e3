// Requests to the site, with its CSRF token. A redirect means that the session has ended.
export class SignedOut extends Error {}

export function csrfToken() {
  // From the cookie, not from the page: signing in again in another tab changes it.
  const cookie = document.cookie.split("; ").find((each) => each.startsWith("csrftoken="));
  const field = document.querySelector("input[name=csrfmiddlewaretoken]");
  return cookie ? decodeURIComponent(cookie.slice("csrftoken=".length)) : field?.value || "";
}

export async function ask(url, { method = "GET", body, signal, keepalive } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(url, {
    method, headers, signal, keepalive,
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: "manual", credentials: "same-origin",
  });
  if (answer.type === "opaqueredirect" || answer.status === 401) throw new SignedOut();
  if (!answer.ok) {
    const { detail } = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(detail || `${answer.status}`), { status: answer.status });
  }
  return answer.json();
}

// Returns the answer of an upload; `progress` gets whole percents.
export function upload(url, file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const data = new FormData();
    data.append("file", file, file.name || "picture.png");
    request.open("POST", url);
    request.setRequestHeader("X-CSRFToken", csrfToken());
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(Math.round((100 * event.loaded) / event.total));
    });
    request.addEventListener("error", () => reject(new Error("network")));
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* not JSON: the login page */ }
      if (request.status < 300 && answer.markdown) resolve(answer);
      else if (request.responseURL.includes("/login/")) reject(new SignedOut());
      else reject(new Error(answer.error || answer.detail || `${request.status}`));
    });
    request.send(data);
  });
}
