// Starts a stack from the built package and says how long the start took, in milliseconds; for P1.
const begin = performance.now();
const { startStack } = await import("../dist/testing/index.js");
const imported = performance.now();
const stack = await startStack();
console.log(JSON.stringify({ importMs: imported - begin, startMs: performance.now() - imported }));
process.once("SIGTERM", () => stack.close().then(() => process.exit(0)));
