import { type Stack, startStack } from "../../services/testing/index.ts";
import { describeStack } from "./suite.ts";

let stack: Stack;
describeStack({
  name: "startStack()",
  start: async () => {
    stack = await startStack();
    return stack;
  },
  stop: () => stack.close(),
});
