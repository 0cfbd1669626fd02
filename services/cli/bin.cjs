#!/usr/bin/env node
// Plain JavaScript that any Node can read: says what to do where Node is too old, else starts the command line.
"use strict";

var required = [22, 22];
var found = process.versions.node.split(".").map(Number);

if (found[0] < required[0] || (found[0] === required[0] && found[1] < required[1])) {
  process.stderr.write(
    "pullproof needs Node.js " +
      required.join(".") +
      " or newer; this is " +
      process.versions.node +
      "\n" +
      "  (" +
      process.execPath +
      ").\n" +
      "What to do: install a newer Node.js (https://nodejs.org, nvm install 24, fnm use 24), then run the same command\n" +
      "again. In a clone, `npm ci && npm run demo` brings its own Node.js and works as it is.\n",
  );
  process.exit(2);
}

var fs = require("node:fs");
var os = require("node:os");
var path = require("node:path");
var url = require("node:url");

// Compiled code is kept between runs; where the folder cannot be written, Node goes on without.
var cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
require("node:module").enableCompileCache(path.join(cache, "pullproof", "compile"));

var published = path.join(__dirname, "main.js");
var main = fs.existsSync(published) ? published : path.join(__dirname, "main.ts");
import(url.pathToFileURL(main).href)
  .then((module) => module.main(process.argv.slice(2)))
  .then((exitCode) => {
    process.exitCode = exitCode;
  });
