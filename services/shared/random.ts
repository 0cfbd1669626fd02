// The only source of randomness. Tests hand in a seeded one.
import { createHash, randomBytes } from "node:crypto";

/** Randomness as every room takes it. */
export interface Random {
  bytes(length: number): Buffer;
}

/** Small requests (ids, nonces) are served from a pool: one system call for many of them. */
const POOL_BYTES = 8192;
const POOLED_BYTES = 64;

/** The system's generator. */
export const systemRandom: Random = createSystemRandom();

function createSystemRandom(): Random {
  let pool = Buffer.alloc(0);
  return {
    bytes(length) {
      if (length > POOLED_BYTES) return randomBytes(length);
      if (pool.length < length) pool = randomBytes(POOL_BYTES);
      const taken = pool.subarray(0, length); // a fresh pool replaces the old one, so no byte is given out twice
      pool = pool.subarray(length);
      return taken;
    },
  };
}

/** A reproducible generator (SHA-256 in counter mode) for tests and seeds; not for secrets. */
export function createSeededRandom(seed: string): Random {
  let counter = 0;
  let pool = Buffer.alloc(0);
  return {
    bytes(length) {
      const parts = [pool];
      for (let have = pool.length; have < length; have += 32) {
        parts.push(createHash("sha256").update(`${seed}:${counter++}`).digest());
      }
      const all = Buffer.concat(parts);
      pool = all.subarray(length);
      return all.subarray(0, length);
    },
  };
}

/** A random UUID, version 4 (RFC 9562 §5.4). */
export function createUuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
