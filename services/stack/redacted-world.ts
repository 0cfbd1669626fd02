// The world as anyone may see it: secrets left out. Pure.
import { fingerprint } from "../shared/redact.ts";
import type { World } from "./types.ts";

/** Members whose values never leave the stack, wherever they stand. */
const SECRET_MEMBERS = new Set(["secret", "password", "pem", "jwk", "stringData", "data"]);

/** A copy of the world in which every secret is replaced by its fingerprint. */
export function redactWorld(world: World): unknown {
  return redactMember(world);
}

function redactMember(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactMember);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    const secret = SECRET_MEMBERS.has(key) && member !== undefined;
    return [key, secret ? `<${fingerprint(JSON.stringify(member))}>` : redactMember(member)];
  });
  return Object.fromEntries(entries);
}
