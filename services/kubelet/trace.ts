// Trace and span ids (W3C Trace Context) of the simulated kubelet's requests.
import type { Random } from "../shared/random.ts";

/** A new trace id: 32 hex digits. */
export function createTraceId(random: Random): string {
  return random.bytes(16).toString("hex");
}

/** A `traceparent` header with a span of its own. */
export function createTraceparent(trace: string, random: Random): string {
  return `00-${trace}-${random.bytes(8).toString("hex")}-01`;
}
