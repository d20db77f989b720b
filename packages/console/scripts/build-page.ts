import { buildPage } from "./page-build.ts";

await buildPage(new URL("../dist/page", import.meta.url).pathname);
