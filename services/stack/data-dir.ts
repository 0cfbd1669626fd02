// The stack's folder on disk: CA, control key, nodes. A temporary one is removed at the end.
import { generateKeyPair, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ConfigurationError } from "../shared/errors.ts";

export interface DataDirectory {
  readonly path: string;
  /** The folder of one node: records and the plugins' home. Created when asked for. */
  nodeDirectory(node: string): string;
  /** Forgets what nodes wrote. */
  clearNodes(): void;
  /** A key of the stack: as given, from the file `<name>.key`, or new and written there (0600). */
  key(name: "control" | "seal", given: string | undefined): string;
  /**
   * The private key of an issuer, as PEM: from `issuers/`, or new and written there (0600). Undefined in a temporary
   * folder: there it is made when somebody needs it, and gone with the stack.
   */
  issuerKey(issuer: { readonly name: string; readonly alg: string }): Promise<string | undefined>;
  /** Removes a temporary folder; leaves a given one. */
  close(): void;
}

/**
 * Opens (and creates) the folder.
 * @throws ConfigurationError if it cannot be created or written
 */
export function openDataDirectory(given: string | undefined): DataDirectory {
  const path = given === undefined ? mkdtempSync(join(tmpdir(), "pullproof-")) : create(resolve(given));
  const nodes = join(path, "nodes");
  return {
    path,
    nodeDirectory: (node) => create(join(nodes, node)),
    clearNodes: () => rmSync(nodes, { recursive: true, force: true }),
    key(name, key) {
      if (key) return checkKey(name, key);
      const file = join(path, `${name}.key`);
      if (existsSync(file)) return readFileSync(file, "utf8").trim();
      const made = randomUUID();
      write(file, `${made}\n`);
      return made;
    },
    async issuerKey({ name, alg }) {
      if (given === undefined) return undefined;
      const file = join(create(join(path, "issuers")), `${encodeURIComponent(name)}.${alg}.pem`);
      if (existsSync(file)) return readFileSync(file, "utf8");
      const made = await generateIssuerKey(alg);
      write(file, made);
      return made;
    },
    close() {
      if (given === undefined) rmSync(path, { recursive: true, force: true });
      else rmSync(nodes, { recursive: true, force: true });
    },
  };
}

/** It travels as a bearer token (RFC 6750 §2.1). */
function checkKey(name: string, key: string): string {
  if (/^[\w.~+/=-]+$/.test(key)) return key;
  const expected = "letters, digits and . _ ~ + / = -";
  throw new ConfigurationError(`expected the ${name} key to consist of ${expected}, found other characters`);
}

/** RFC 7518 §3.1: the curve that an algorithm's name stands for; the others are RSA. */
const CURVES: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

async function generateIssuerKey(alg: string): Promise<string> {
  const namedCurve = CURVES[alg];
  const { privateKey } = await (namedCurve === undefined
    ? promisify(generateKeyPair)("rsa", { modulusLength: 2048 })
    : promisify(generateKeyPair)("ec", { namedCurve }));
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

const WRITABLE_HINT =
  "choose a folder you may write to with --data-dir; in a container, a volume or folder of the user it runs as";

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new ConfigurationError(`cannot write ${file}: ${String(cause)}`, {
      cause,
      hint: WRITABLE_HINT,
    });
  }
}

function create(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw new ConfigurationError(`cannot create the folder ${path}: ${String(cause)}`, {
      cause,
      hint: WRITABLE_HINT,
    });
  }
  return path;
}
