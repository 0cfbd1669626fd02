// One OIDC issuer: its key store behind the operations that others call. Knows nothing of HTTP or of Kubernetes objects.
import type { KeyObject } from "node:crypto";
import type { Clock } from "../shared/clock.ts";
import { ConfigurationError } from "../shared/errors.ts";
import { createUuid, type Random } from "../shared/random.ts";
import { isSigningAlg, SIGNING_ALGS, type SigningAlg } from "./core/algorithms.ts";
import { createDiscoveryDocument } from "./core/discovery.ts";
import { findKeyMismatch, type SigningKey } from "./core/jwks.ts";
import { parseToken, signToken, verifyToken } from "./core/sign.ts";
import { type ForgeMaterial, forgeToken, needsForeignKey } from "./core/spoil.ts";
import { OidcError } from "./errors.ts";
import { createKeySlot, createKeyStore, type KeySlot, type KeyStore, parsePrivateKey } from "./store.ts";
import type { Claims, Issuer, KeyInfo, MintRequest } from "./types.ts";

/** How an issuer is declared. */
export interface IssuerOptions {
  readonly name: string;
  /** Absolute, no query, no fragment; becomes the `iss` claim letter by letter. */
  readonly url: string;
  readonly alg: SigningAlg;
  /** The private key; generated when first needed if left out. */
  readonly key?: { readonly pem: string } | { readonly jwk: Record<string, unknown> } | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

const DEFAULT_EXPIRATION_SECONDS = 3600;

/**
 * An issuer. Costs nothing until a key is needed: keys are generated lazily, on the thread pool.
 * @throws ConfigurationError for a bad URL, algorithm or key.
 */
export function createIssuer(options: IssuerOptions): Issuer {
  const { name, url, clock } = options;
  checkUrl(name, url);
  const store = createKeyStore(createKeySlot(options.alg, clock, readKey(options)));
  const foreign = new Map<SigningAlg, KeySlot>();
  const activeKey = async () => store.active().peek() ?? (await store.active().take());
  const forge = async (kind: Parameters<Issuer["spoil"]>[1], claims: Claims) => {
    const key = await activeKey();
    const foreignKey = needsForeignKey(kind) ? await takeForeignKey(foreign, key.alg, clock) : undefined;
    const material: ForgeMaterial = { claims, key, foreignKey, now: clock.now() };
    return forgeToken(kind, material);
  };
  return {
    name,
    url,
    get alg() {
      return store.active().alg;
    },
    ...createKeyOperations(store, clock),
    discovery: (jwksUri) =>
      createDiscoveryDocument(
        url,
        jwksUri,
        store.all().map((slot) => slot.alg),
      ),
    sign: async (claims) => signToken(claims, await activeKey()),
    async mint(request) {
      const claims = createClaims(url, request, options);
      // What the caller added or spoiled may read otherwise than it was written: that is read back.
      if (!request.bad && !request.claims) return { token: signToken(claims, await activeKey()), claims };
      const token = request.bad ? await forge(request.bad, claims) : signToken(claims, await activeKey());
      return { token, claims: parseToken(token)?.claims ?? claims };
    },
    async spoil(token, kind) {
      const parts = parseToken(token);
      if (!parts) throw new OidcError("invalid_request", "expected a JWT to spoil, found something else");
      return forge(kind, parts.claims);
    },
    verify: async (token) => verifyToken(token, await takeAll(store)),
    reset: () => store.reset(),
  };
}

function createKeyOperations(
  store: KeyStore,
  clock: Clock,
): Pick<Issuer, "prepare" | "keys" | "rotate" | "withdraw" | "jwks"> {
  const describe = (key: SigningKey): KeyInfo => {
    const { kid, alg, createdAt } = key;
    return { kid, alg, active: store.active().peek() === key, createdAt };
  };
  return {
    prepare: async () => void (await takeAll(store)),
    keys: async () => (await takeAll(store)).map(describe),
    jwks: async () => ({ keys: (await takeAll(store)).map((key) => key.jwk) }),
    async rotate({ alg = store.active().alg, keepOld }) {
      const slot = createKeySlot(parseAlg(alg), clock);
      // The key must exist before it replaces anything: no moment without a key that can sign at once.
      const key = await slot.take();
      store.push(slot, keepOld);
      return describe(key);
    },
    async withdraw(kid) {
      const keys = await takeAll(store);
      const slot = store.all().find((candidate) => candidate.peek() === keys.find((key) => key.kid === kid));
      if (!slot) return false;
      if (slot === store.active()) {
        const successor = createKeySlot(slot.alg, clock);
        await successor.take();
        if (slot === store.active()) store.push(successor, true);
      }
      store.remove(slot);
      return true;
    },
  };
}

function takeAll(store: KeyStore): Promise<SigningKey[]> {
  return Promise.all(store.all().map((slot) => slot.take()));
}

function takeForeignKey(slots: Map<SigningAlg, KeySlot>, alg: SigningAlg, clock: Clock): Promise<SigningKey> {
  const slot = slots.get(alg) ?? createKeySlot(alg, clock);
  slots.set(alg, slot);
  return slot.take();
}

function createClaims(issuer: string, request: MintRequest, { clock, random }: IssuerOptions): Claims {
  const iat = Math.floor(clock.now().getTime() / 1000);
  return {
    ...(request.audiences ? { aud: request.audiences } : {}),
    exp: iat + (request.expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS),
    iat,
    iss: issuer,
    jti: createUuid(random),
    nbf: iat,
    ...(request.subject === undefined ? {} : { sub: request.subject }),
    ...request.claims,
  };
}

function parseAlg(alg: unknown): SigningAlg {
  if (isSigningAlg(alg)) return alg;
  throw new OidcError(
    "invalid_request",
    `expected alg to be one of ${Object.keys(SIGNING_ALGS).join(", ")}, found ${alg}`,
  );
}

function checkUrl(name: string, text: string): void {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !text.includes("?") && !text.includes("#")) return;
  throw new ConfigurationError(`issuer ${name}: expected an http(s) URL without query and fragment, found ${text}`);
}

function readKey({ name, alg, key }: IssuerOptions): KeyObject | undefined {
  if (!isSigningAlg(alg)) {
    throw new ConfigurationError(
      `issuer ${name}: expected alg to be one of ${Object.keys(SIGNING_ALGS).join(", ")}, found ${String(alg)}`,
    );
  }
  if (!key) return undefined;
  let parsed: KeyObject;
  try {
    parsed = parsePrivateKey(key);
  } catch (cause) {
    throw new ConfigurationError(`issuer ${name}: expected a private key as PEM or JWK, found something else`, {
      cause,
    });
  }
  const mismatch = findKeyMismatch(parsed, alg);
  if (mismatch) throw new ConfigurationError(`issuer ${name}: ${mismatch}`);
  return parsed;
}
