// What `import … from "pullproof/testcontainers"` gives. Needs the package `testcontainers`, which is not ours to install.
export { PullproofContainer, StartedPullproofContainer, stackAgent } from "./container.ts";
