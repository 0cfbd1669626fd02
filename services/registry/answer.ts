// The few ways in which the registry answers: a small body, and a refusal in the shape of the profile.
import type { OutgoingHttpHeaders } from "node:http";
import { type RegistryError, renderErrorDocument } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Registry } from "./registry.ts";

export type AnswerHeaders = Readonly<OutgoingHttpHeaders>;

/** Answers with a small body in one write; HEAD gets the headers only. */
export function answer(exchange: Exchange, status: number, headers: AnswerHeaders, body?: Buffer): void {
  const { request, response } = exchange;
  response.writeHead(
    status,
    status === 204 || status === 304 ? { ...headers } : { ...headers, "Content-Length": body?.length ?? 0 },
  );
  if (body && request.method !== "HEAD") response.end(body);
  else response.end();
}

/** Where a refusal is answered: also before it is known who asks. */
export type RefusalTarget = Pick<Exchange, "request" | "response"> &
  Pick<Registry, "profile"> & {
    readonly repository: string;
    readonly registryId: string;
    /** Where the profile gives another status than the refusal's own. */
    readonly status?: number;
  };

/** Answers a refusal in the shape of the registry's profile. */
export function answerRefusal(target: RefusalTarget, error: RegistryError): void {
  const { profile, repository, registryId } = target;
  const override = { ...profile.refusals[error.refusal], ...profile.behaviour.refusals[error.refusal] };
  const message = override.text?.({ ...error.facts, repository, registryId, message: error.message }) ?? error.message;
  const detail = profile.details ? error.facts.detail : undefined;
  const document = renderErrorDocument(override.code ?? error.code, message, detail) + profile.documentEnd;
  const headers = { "Content-Type": profile.documentType, ...error.facts.headers };
  writeRefusal(target, target.status ?? override.status ?? error.status, headers, document);
}

/** Writes a refusal's head and, except for HEAD, its body. */
export function writeRefusal(
  target: Pick<Exchange, "request" | "response">,
  status: number,
  headers: AnswerHeaders,
  body: string,
): void {
  target.response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body) });
  target.response.end(target.request.method === "HEAD" ? undefined : body);
}
