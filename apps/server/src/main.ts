#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Comes before anything else is loaded, so that all of it is cached for the next start.
enableCompileCache();
const { serve } = await import("./serve.ts");
process.exit(await serve());
