// Requests to the control API of a stack somewhere else.

/** A running stack's control API. */
export interface ControlApi {
  /** The JSON answer; `path` is without the prefix. @throws Error with the stack's own message */
  request(method: "GET" | "PUT" | "POST" | "DELETE", path: string, body?: unknown): Promise<unknown>;
  text(path: string): Promise<string>;
  /** Calls `listener` for every further event, until the returned function is called. */
  follow(path: string, listener: (event: unknown) => void): Promise<() => void>;
}

/** @param endpoint `http://host:port` */
export function createControlApi(endpoint: string, controlKey: string): ControlApi {
  const ask = async (method: string, path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${controlKey}`, ...init.headers };
    const answer = await fetch(`${endpoint}/_pullproof/${path}`, { ...init, method, headers }).catch((cause) => {
      throw new Error(`no stack answers at ${endpoint}`, { cause });
    });
    if (answer.ok) return answer;
    throw new Error(`${method} ${path}: ${renderRefusal(answer.status, await answer.text())}`);
  };
  return {
    async request(method, path, body) {
      const headers = { "content-type": "application/json" };
      const init = method === "GET" ? {} : { headers, body: JSON.stringify(body ?? {}) };
      return (await ask(method, path, init)).json();
    },
    text: async (path) => (await ask("GET", path)).text(),
    async follow(path, listener) {
      const stop = new AbortController();
      const answer = await ask("GET", path, { headers: { accept: "text/event-stream" }, signal: stop.signal });
      const read = async () => {
        let rest = "";
        for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
          const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) if (line.startsWith("data: ")) listener(JSON.parse(line.slice("data: ".length)));
        }
      };
      read().catch(() => undefined); // told to stop, or the stack is gone: there are no further events
      return () => stop.abort();
    },
  };
}

/** `{error: {message}}` of the control API, else what there is. */
function renderRefusal(status: number, text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === "string") return error.message;
  } catch {
    // no JSON: the status says what there is to say
  }
  return `HTTP ${status}`;
}
