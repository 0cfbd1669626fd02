// What a minor, or a choice, cannot do: said by the command and in the README of the folder.
import type { Minor } from "./minors.ts";
import type { KindPlan } from "./types.ts";

/** One sentence each, the minor's first. */
export function listWarnings(plan: KindPlan & { readonly facts: Minor }): readonly string[] {
  const { facts, policy, world, issuer, issuerUrl, providers, audiences } = plan;
  const { alg } = world.issuers.find(({ name }) => name === world.cluster.issuer) ?? { alg: "RS256" };
  const warnings: [boolean, string][] = [
    [policy === "NeverVerify", "NeverVerify lets every Pod of a node use every image on it: nothing is isolated there"],
    [policy === "AlwaysVerify", "AlwaysVerify makes the nodes pull kind's own images again, from the Internet"],
    [
      issuer === "stack" && !issuerUrl.startsWith("https:"),
      `the issuer ${issuerUrl} is not https: kube-apiserver serves no discovery document for it`,
    ],
    [
      issuer === "stack" && /^RS(384|512)$/.test(alg),
      `the issuer's algorithm is ${alg}, but kube-apiserver signs with RS256 when the key is RSA`,
    ],
    [
      issuer === "cluster",
      "every kind cluster has the issuer https://kubernetes.default.svc.cluster.local: a stack can trust the keys of one at a time",
    ],
    [
      audiences.length === 0,
      "no credential provider asks for ServiceAccount tokens: nodes use one identity for all Pods",
    ],
    [
      new Set(providers.map(({ name }) => name)).size > 1,
      "several credential providers: put every one of them into plugin/bin",
    ],
  ];
  return [...facts.warnings, ...warnings.flatMap(([applies, text]) => (applies ? [text] : []))];
}
