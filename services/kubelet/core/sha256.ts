// The one digest that keys, hashes and file names are made with.
import { createHash } from "node:crypto";

/** Lower-case hex. */
export function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
