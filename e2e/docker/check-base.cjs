// Says what is wrong with a base image before anything is installed in it. Plain JavaScript that any Node can read.
"use strict";

var expected = [22, 22];
var found = process.versions.node.split(".").map(Number);
if (found[0] < expected[0] || (found[0] === expected[0] && found[1] < expected[1])) {
  console.error(
    "wrong base image: expected one with Node.js " +
      expected.join(".") +
      " or newer, found Node.js " +
      process.versions.node +
      "\nWhat to do: build without --build-arg NODE_IMAGE, or name a newer image with it, such as node:24-bookworm-slim",
  );
  process.exit(2);
}
