// Amazon Resource Names, and the ids that carry an account number.

export interface Arn {
  readonly partition: string;
  readonly service: string;
  readonly region: string;
  readonly account: string;
  /** Everything after the fifth colon, which may hold further colons. */
  readonly resource: string;
}

/** The six parts of an ARN, or undefined if the text is none. */
export function parseArn(text: string): Arn | undefined {
  const match = /^arn:([\w-]+):([\w-]+):([\w-]*):(\d{12}|aws)?:(.+)$/.exec(text);
  if (!match) return undefined;
  const [, partition = "", service = "", region = "", account = "", resource = ""] = match;
  return { partition, service, region, account, resource };
}

/** A role's ARN taken apart; undefined for any other ARN. The name never holds the path. */
export function parseRoleArn(text: string): { account: string; path: string; name: string } | undefined {
  const arn = parseArn(text);
  const match =
    arn?.service === "iam" && arn.region === ""
      ? /^role(\/(?:[\w+=,.@-]+\/)*)([\w+=,.@-]{1,64})$/.exec(arn.resource)
      : null;
  if (!arn || !match) return undefined;
  return { account: arn.account, path: match[1] ?? "/", name: match[2] ?? "" };
}

/** `arn:aws:ecr:<region>:<account>:repository/<name>` */
export function renderRepositoryArn(repository: { region: string; account: string; name: string }): string {
  return `arn:aws:ecr:${repository.region}:${repository.account}:repository/${repository.name}`;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/**
 * A unique id or access key id (`AROA`, `AIDA`: 17 characters after the prefix, `ASIA`, `AKIA`: 16) that encodes its account:
 * bits 7 to 46 of the first six base32-decoded bytes (spec aws 2.2).
 */
export function createUniqueId(
  prefix: "AROA" | "AIDA" | "ASIA" | "AKIA",
  account: string,
  random: { bytes(n: number): Buffer },
): string {
  const tail = random.bytes(5);
  let bits = (1n << 47n) | (BigInt(account) << 7n) | BigInt((tail[0] ?? 0) & 0x7f);
  bits = (bits << 32n) | BigInt(tail.readUInt32BE(1));
  let text = "";
  for (let shift = 75n; shift >= 0n; shift -= 5n) text += BASE32[Number((bits >> shift) & 31n)] ?? "";
  if (prefix === "ASIA" || prefix === "AKIA") return prefix + text;
  return prefix + text + (BASE32[(random.bytes(1)[0] ?? 0) & 31] ?? "");
}

/** The account number inside such an id, or undefined if it has none. */
export function accountOfUniqueId(id: string): string | undefined {
  const body = id.slice(4, 14);
  if (!/^[A-Z2-7]{10}$/.test(body)) return undefined;
  let bits = 0n;
  for (const letter of body) bits = (bits << 5n) | BigInt(BASE32.indexOf(letter));
  // ten letters are 50 bits; the first six bytes are the upper 48
  return String(((bits >> 2n) & 0x7fffffffff80n) >> 7n).padStart(12, "0");
}
