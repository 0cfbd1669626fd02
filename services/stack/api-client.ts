// The stack's own calls to its API server, over HTTP as everybody's: admin requests for Pods and tokens.
import { ControlError } from "../control/index.ts";
import { type Dialer, readResponse } from "../shared/dial.ts";
import { API_SERVER_URL } from "./hosts.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Requests as the admin; a refusal keeps the API server's own message. */
export interface ApiClient {
  /** @throws ControlError with the Status message for anything but 2xx */
  request(method: string, path: string, body?: Fields): Promise<Fields>;
}

export function createApiClient(dialer: Dialer, adminToken: string): ApiClient {
  return {
    async request(method, path, body) {
      const response = await dialer.request(`${API_SERVER_URL}${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const answer = JSON.parse((await readResponse(response)).toString("utf8")) as Fields;
      if (response.status < 300) return answer;
      throw new ControlError(errorCodeOf(response.status), String(answer.message ?? `API server: ${response.status}`));
    },
  };
}

function errorCodeOf(status: number): ConstructorParameters<typeof ControlError>[0] {
  if (status === 404) return "NotFound";
  if (status === 409) return "Conflict";
  return status === 403 ? "Forbidden" : "BadRequest";
}
