// The stack's own CA and its server certificates, made when TLS is first used. The only file that imports node-forge.
// Profile: spec wiring 6.2, accepted by OpenSSL (strict), Go, Node, Python and containerd.
import { generateKeyPair } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type forge from "node-forge";
import type { Clock } from "./clock.ts";
import { lazy } from "./lazy.ts";
import type { Random } from "./random.ts";

const DAY_MS = 86_400_000;
const BACKDATE_MS = 5 * 60_000;
const CA_DAYS = 825;
const LEAF_DAYS = 90;
/** An existing CA is kept while it is valid for at least this long. */
const CA_REUSE_DAYS = 30;

/** Certificates by server name, all from one CA. */
export interface CertificateAuthority {
  /** The CA's certificate as PEM. */
  caPem(): Promise<string>;
  /**
   * Key and chain for the name a client asked for; the empty name is a client without SNI. Names the stack does not
   * answer for are refused, so that the CA never vouches for a foreign host.
   * @throws Error naming the refused host
   */
  certificateFor(serverName: string): Promise<ServerCertificate>;
}

/** A private key and a chain (server certificate, then the CA), both PEM. The same object for the same certificate. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateAuthorityOptions {
  /** Where `ca.pem` and `ca.key` are kept; reused by the next start. */
  readonly directory: string;
  /** The system's clock: clients check validity against their own time. */
  readonly systemClock: Clock;
  readonly random: Random;
  /** Whether the stack answers for this name; IP addresses and localhost always are. */
  isServed(serverName: string): boolean;
}

type Forge = typeof forge;

interface Authority {
  readonly pem: string;
  readonly certificate: forge.pki.Certificate;
  readonly key: forge.pki.rsa.PrivateKey;
}

interface LeafKey {
  readonly pem: string;
  readonly publicKey: forge.pki.rsa.PublicKey;
}

/** A CA whose key, certificate and leaf key (one for all names) are made on first use. */
export function createCertificateAuthority(options: CertificateAuthorityOptions): CertificateAuthority {
  const library = lazy(async () => (await import("node-forge")).default as Forge);
  const authority = lazy(
    async () => loadAuthority(options, await library()) ?? createAuthority(options, await library()),
  );
  const leafKey = lazy(async () => createLeafKey(await library()));
  const issued = new Map<string, Promise<ServerCertificate>>();

  async function issue(names: LeafNames): Promise<ServerCertificate> {
    const [tools, ca, key] = await Promise.all([library(), authority(), leafKey()]);
    return { key: key.pem, cert: signLeaf(tools, { ca, key, names, options }) + ca.pem };
  }

  return {
    caPem: async () => (await authority()).pem,
    async certificateFor(serverName) {
      const names = leafNames(serverName, options.isServed);
      const certificate = issued.get(names.commonName) ?? issue(names);
      issued.set(names.commonName, certificate);
      return certificate;
    },
  };
}

interface LeafNames {
  readonly commonName: string;
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

/** One certificate serves all accounts of a region (`*.dkr.ecr.<region>.…`) and one all local names. */
function leafNames(serverName: string, isServed: (name: string) => boolean): LeafNames {
  const name = serverName.toLowerCase();
  if (name === "" || name === "localhost" || name === "pullproof" || /^[\d.]+$|:/.test(name)) {
    return { commonName: "pullproof", dns: ["localhost", "pullproof"], ips: ["127.0.0.1", "::1"] };
  }
  if (!isServed(name)) throw new Error(`no certificate for ${serverName}: this stack does not answer for that name`);
  const wildcard = name.replace(/^\d{12}\.(dkr[.-]ecr\.)/, "*.$1");
  return { commonName: wildcard.slice(0, 64), dns: [wildcard], ips: [] };
}

async function generateRsa(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function parseKey(tools: Forge, pem: string): { key: forge.pki.rsa.PrivateKey; publicKey: forge.pki.rsa.PublicKey } {
  const key = tools.pki.privateKeyFromPem(pem);
  return { key, publicKey: tools.pki.setRsaPublicKey(key.n, key.e) };
}

async function createLeafKey(tools: Forge): Promise<LeafKey> {
  const pem = await generateRsa();
  return { pem, publicKey: parseKey(tools, pem).publicKey };
}

/** 128 random bits, positive and without a leading zero byte. */
function serialNumber(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

function loadAuthority(options: CertificateAuthorityOptions, tools: Forge): Authority | undefined {
  const files = authorityFiles(options.directory);
  if (!existsSync(files.pem) || !existsSync(files.key)) return undefined;
  const pem = readFileSync(files.pem, "utf8");
  const certificate = tools.pki.certificateFromPem(pem);
  const leftMs = certificate.validity.notAfter.getTime() - options.systemClock.now().getTime();
  if (leftMs < CA_REUSE_DAYS * DAY_MS) return undefined;
  return { pem, certificate, key: parseKey(tools, readFileSync(files.key, "utf8")).key };
}

function authorityFiles(directory: string): { pem: string; key: string } {
  return { pem: join(directory, "ca.pem"), key: join(directory, "ca.key") };
}

async function createAuthority(options: CertificateAuthorityOptions, tools: Forge): Promise<Authority> {
  const keyPem = await generateRsa();
  const { key, publicKey } = parseKey(tools, keyPem);
  const certificate = createCertificate(tools, { publicKey, days: CA_DAYS, options });
  // A random suffix keeps an old CA of the same name from being mistaken for this one.
  const subject = [
    { name: "organizationName", value: "Pullproof" },
    { name: "commonName", value: `Pullproof CA ${options.random.bytes(4).toString("hex")}` },
  ];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  certificate.setExtensions([
    { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
    { name: "keyUsage", critical: true, keyCertSign: true, cRLSign: true },
    { name: "subjectKeyIdentifier" },
  ]);
  certificate.sign(key, tools.md.sha256.create());
  const pem = tools.pki.certificateToPem(certificate).replaceAll("\r", "");
  const files = authorityFiles(options.directory);
  mkdirSync(options.directory, { recursive: true });
  writeFileSync(files.key, keyPem, { mode: 0o600 });
  chmodSync(files.key, 0o600);
  writeFileSync(files.pem, pem);
  return { pem, certificate, key };
}

function createCertificate(
  tools: Forge,
  from: { publicKey: forge.pki.rsa.PublicKey; days: number; options: CertificateAuthorityOptions },
): forge.pki.Certificate {
  const certificate = tools.pki.createCertificate();
  const now = from.options.systemClock.now().getTime();
  certificate.publicKey = from.publicKey; // before the extensions: the key identifier is computed from it
  certificate.serialNumber = serialNumber(from.options.random);
  certificate.validity.notBefore = new Date(now - BACKDATE_MS);
  certificate.validity.notAfter = new Date(now + from.days * DAY_MS);
  return certificate;
}

function signLeaf(
  tools: Forge,
  leaf: { ca: Authority; key: LeafKey; names: LeafNames; options: CertificateAuthorityOptions },
): string {
  const { ca, key, names, options } = leaf;
  const certificate = createCertificate(tools, { publicKey: key.publicKey, days: LEAF_DAYS, options });
  certificate.setSubject([{ name: "commonName", value: names.commonName }]);
  certificate.setIssuer(ca.certificate.subject.attributes);
  certificate.setExtensions([
    { name: "basicConstraints", cA: false, critical: true },
    { name: "keyUsage", critical: true, digitalSignature: true, keyEncipherment: true },
    { name: "extKeyUsage", serverAuth: true },
    {
      name: "subjectAltName",
      altNames: [...names.dns.map((value) => ({ type: 2, value })), ...names.ips.map((ip) => ({ type: 7, ip }))],
    },
    { name: "subjectKeyIdentifier" },
    // As bytes: `true` would write the leaf's own key id, which OpenSSL, Node and Python reject.
    { name: "authorityKeyIdentifier", keyIdentifier: ca.certificate.generateSubjectKeyIdentifier().getBytes() },
  ]);
  certificate.sign(ca.key, tools.md.sha256.create());
  return tools.pki.certificateToPem(certificate).replaceAll("\r", "");
}
