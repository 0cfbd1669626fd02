// The keys of one issuer, the room's only mutable state: made when first needed, on the thread pool, once each.
import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Clock } from "../shared/clock.ts";
import { SIGNING_ALGS, type SigningAlg } from "./core/algorithms.ts";
import { createSigningKey, type SigningKey } from "./core/jwks.ts";

const generate = promisify(generateKeyPair);

/** A key that exists or will: its algorithm is known before. */
export interface KeySlot {
  readonly alg: SigningAlg;
  /** The key, if it is there already. */
  peek(): SigningKey | undefined;
  /** The key; made now if need be, and only once. */
  take(): Promise<SigningKey>;
}

/** A slot that generates its key when it is first taken, or holds the given one. */
export function createKeySlot(alg: SigningAlg, clock: Clock, given?: KeyObject): KeySlot {
  let key = given && createSigningKey(given, alg, clock.now());
  let pending: Promise<SigningKey> | undefined;
  return {
    alg,
    peek: () => key,
    take() {
      pending ??= (async () => {
        key ??= createSigningKey(await generatePrivateKey(alg), alg, clock.now());
        return key;
      })();
      return pending;
    },
  };
}

/** The published keys of an issuer: the active one first, then those that only verify. */
export interface KeyStore {
  active(): KeySlot;
  all(): readonly KeySlot[];
  /** The new slot becomes active. */
  push(slot: KeySlot, keepOld: boolean): void;
  remove(slot: KeySlot): void;
  /** Only the first key again. */
  reset(): void;
}

/** A store that starts with this one key. */
export function createKeyStore(first: KeySlot): KeyStore {
  let active = first;
  let others: readonly KeySlot[] = [];
  return {
    active: () => active,
    all: () => [active, ...others],
    push(slot, keepOld) {
      others = keepOld ? [active, ...others] : [];
      active = slot;
    },
    remove(slot) {
      others = others.filter((other) => other !== slot);
    },
    reset() {
      active = first;
      others = [];
    },
  };
}

/**
 * The private key of a PEM text or JWK.
 * @throws Error with OpenSSL's reason if it is none.
 */
export function parsePrivateKey(key: { readonly pem: string } | { readonly jwk: Record<string, unknown> }): KeyObject {
  return "pem" in key ? createPrivateKey(key.pem) : createPrivateKey({ key: key.jwk, format: "jwk" });
}

async function generatePrivateKey(alg: SigningAlg): Promise<KeyObject> {
  const { curve } = SIGNING_ALGS[alg];
  const pair = curve
    ? await generate("ec", { namedCurve: curve })
    : await generate("rsa", { modulusLength: 2048, publicExponent: 0x10001 });
  return pair.privateKey;
}
