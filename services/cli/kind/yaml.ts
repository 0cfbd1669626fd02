// YAML as it is written here: no folded lines, no anchors, texts of several lines as literal blocks.
import { stringify } from "yaml";

/** One document, without a document marker. */
export function yaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, blockQuote: "literal", indentSeq: false });
}
