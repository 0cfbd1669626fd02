// A manifest as JSON or YAML text, with what Kubernetes' strict decoding objects to (kubelet.md 1.3, 13.2).
import { parseAllDocuments } from "yaml";
import { parseGoJson } from "./go-json.ts";
import { ProviderConfigError } from "./provider-config.ts";

/**
 * The first document of the text; a second YAML document is silently ignored, as upstream does.
 * @throws ProviderConfigError if the text is neither JSON nor YAML
 */
export function parseManifestText(text: string, path: string): { value: unknown; strictProblems: string[] } {
  const refuse = (why: string) => new ProviderConfigError(`error decoding config ${JSON.stringify(path)}: ${why}`);
  if (/^\s*\{/.test(text)) {
    try {
      const { value, duplicates } = parseGoJson(text);
      return { value, strictProblems: duplicates.map((key) => `duplicate field "${key}"`) };
    } catch {
      // YAML's flow mappings start like JSON: what is no JSON may still be YAML.
    }
  }
  const documents = parseAllDocuments(text);
  const [first] = Array.isArray(documents) ? documents : [];
  if (!first) return { value: null, strictProblems: [] };
  const fatal = first.errors.filter((error) => error.code !== "DUPLICATE_KEY");
  if (fatal[0]) throw refuse(`yaml: ${fatal[0].message.split("\n", 1).join("")}`);
  const duplicates = first.errors.map((error) => {
    const line = error.linePos?.[0].line ?? 0;
    const key = /^[^:]*/.exec(text.slice(error.pos[0]))?.[0].trim() ?? "";
    return `  line ${line}: key ${JSON.stringify(key)} already set in map`;
  });
  return {
    value: first.toJS({ maxAliasCount: 100 }),
    strictProblems: duplicates.length > 0 ? [`yaml: unmarshal errors:\n${duplicates.join("\n")}`] : [],
  };
}
