// Every row of the demo, in the order of the table.
import { ATTACK_ROWS } from "./rows-attack.ts";
import { NODE_ROWS } from "./rows-node.ts";
import { REGISTRY_ROWS } from "./rows-registry.ts";
import { TOKEN_ROWS } from "./rows-token.ts";
import type { Row } from "./types.ts";

export const ROWS: readonly Row[] = [...NODE_ROWS, ...TOKEN_ROWS, ...ATTACK_ROWS, ...REGISTRY_ROWS];
