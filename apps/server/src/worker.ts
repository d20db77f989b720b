#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Before anything else is loaded, so that all of it comes out of the cache the next time.
enableCompileCache();
const { work } = await import("./serve.ts");
process.exit(await work());
