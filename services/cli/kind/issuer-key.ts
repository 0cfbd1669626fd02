// The key that signs the cluster's tokens: the world's own, one from an earlier run, or a new one. And the world that has it.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ConfigurationError } from "../../shared/errors.ts";
import type { World } from "../../stack/index.ts";
import { FILES } from "./paths.ts";
import { yaml } from "./yaml.ts";

const CURVES: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

/**
 * The secret files of the folder: private key, public key (kubeadm wants both), and for the built-in world a copy with the key.
 * @param out the folder: a key that an earlier run left there is kept
 * @param rawWorld the built-in world, if that is meant; a world file of someone's own is not rewritten
 */
export function issuerSecrets(world: World, out: string, rawWorld?: object): Readonly<Record<string, string>> {
  const issuer = world.issuers.find(({ name }) => name === world.cluster.issuer);
  if (!issuer || issuer.foreign) return {};
  const key = givenKey(issuer.key) ?? earlierKey(join(out, FILES.key)) ?? newKey(issuer.alg);
  const files = {
    [FILES.key]: key.export({ type: "pkcs8", format: "pem" }).toString(),
    [FILES.publicKey]: createPublicKey(key).export({ type: "spki", format: "pem" }).toString(),
  };
  if (!rawWorld || issuer.key) return files;
  return { ...files, [FILES.config]: worldWithKey(rawWorld, issuer.name) };
}

function givenKey(key: World["issuers"][number]["key"]): KeyObject | undefined {
  if (!key) return undefined;
  return "pem" in key ? createPrivateKey(key.pem) : createPrivateKey({ key: { ...key.jwk }, format: "jwk" });
}

function earlierKey(file: string): KeyObject | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return createPrivateKey(readFileSync(file));
  } catch (cause) {
    throw new ConfigurationError(`${file} is no private key in PEM that can be read`, {
      cause,
      hint: "remove it: the next run makes a new one (clusters made with the old one must be made again)",
    });
  }
}

function newKey(alg: string): KeyObject {
  const namedCurve = CURVES[alg];
  const { privateKey } = namedCurve
    ? generateKeyPairSync("ec", { namedCurve })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
  return privateKey;
}

function worldWithKey(raw: object, issuer: string): string {
  const copy: { issuers?: Record<string, object> } = structuredClone(raw);
  if (copy.issuers) copy.issuers[issuer] = { ...copy.issuers[issuer], key: { file: basename(FILES.key) } };
  return `# The default world with the key that signs the cluster's tokens. The stack's container reads it from /etc/pullproof.\n${yaml(copy)}`;
}
