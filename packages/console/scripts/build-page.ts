import path from "node:path";
import { buildPage } from "./page-build.ts";

await buildPage(path.resolve(import.meta.dirname, "../dist/page"));
