// `WWW-Authenticate` as a registry's client reads it (RFC 9110 §11.6.1).

/** One challenge; parameter names in lower case. */
export interface Challenge {
  readonly scheme: "basic" | "bearer";
  readonly parameters: Readonly<Record<string, string>>;
}

/** The challenges that a client can answer, bearer before basic as containerd prefers them. */
export function parseChallenges(header: string | undefined): Challenge[] {
  const found: Challenge[] = [];
  for (const part of (header ?? "").matchAll(
    /\b(basic|bearer)\b\s*((?:[\w-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,]+)\s*,?\s*)*)/gi,
  )) {
    const scheme = part[1]?.toLowerCase() === "bearer" ? "bearer" : "basic";
    const parameters = [...(part[2] ?? "").matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)].map(
      ([, name = "", quoted, plain]): [string, string] => [
        name.toLowerCase(),
        quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "",
      ],
    );
    found.push({ scheme, parameters: Object.fromEntries(parameters) });
  }
  return found.sort((a, b) => Number(b.scheme === "bearer") - Number(a.scheme === "bearer"));
}
