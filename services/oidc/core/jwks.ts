// Keys as they are published: the key id, and the public members in the order in which Kubernetes writes them.
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import type { PublicJwk } from "../types.ts";
import { SIGNING_ALGS, type SigningAlg } from "./algorithms.ts";
import { encodeJson } from "./encode.ts";

/** A private key with everything derived from it once, so that signing derives nothing. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: PublicJwk;
  readonly createdAt: Date;
  /** The encoded header `{"alg","kid"}`: sorted, no `typ` (spec kubelet 4.1). */
  readonly header: string;
}

/** Unpadded base64url of SHA-256 over the SubjectPublicKeyInfo DER (spec kubelet 4.1). */
export function createKeyId(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url");
}

/** The key that signs with `alg`, with its public side. The caller has checked that the two fit. */
export function createSigningKey(privateKey: KeyObject, alg: SigningAlg, createdAt: Date): SigningKey {
  const publicKey = createPublicKey(privateKey);
  const kid = createKeyId(publicKey);
  const header = encodeJson({ alg, kid });
  return { kid, alg, privateKey, publicKey, jwk: renderJwk(publicKey, kid, alg), createdAt, header };
}

/** What stands in the way of signing with this key and algorithm; undefined if nothing does. */
export function findKeyMismatch(key: KeyObject, alg: SigningAlg): string | undefined {
  const expected = SIGNING_ALGS[alg];
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (expected.kty === "EC") {
    if (key.asymmetricKeyType === "ec" && namedCurve === expected.curve) return undefined;
    return `${alg} needs an EC key on ${expected.crv}, found ${key.asymmetricKeyType} ${namedCurve ?? ""}`.trimEnd();
  }
  if (key.asymmetricKeyType !== "rsa") return `${alg} needs an RSA key, found ${key.asymmetricKeyType}`;
  return (modulusLength ?? 0) >= 2048 ? undefined : `${alg} needs an RSA key of 2048 bits, found ${modulusLength}`;
}

// The public members are listed, never the private ones deleted.
function renderJwk(publicKey: KeyObject, kid: string, alg: SigningAlg): PublicJwk {
  const { n, e, x, y } = publicKey.export({ format: "jwk" });
  const { kty, crv } = SIGNING_ALGS[alg];
  if (kty === "RSA") return { use: "sig", kty, kid, alg, n: n ?? "", e: e ?? "" };
  return { use: "sig", kty, kid, crv, alg, x: x ?? "", y: y ?? "" };
}
