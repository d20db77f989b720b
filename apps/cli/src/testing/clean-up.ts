import { afterAll, afterEach } from "vitest";
import { removeFolders } from "./run-cem.ts";
import { endProcesses } from "./spawn-cem.ts";

// Loaded anew for each test file, unlike the helpers, which all files of a worker share.
afterEach(endProcesses);
afterAll(removeFolders);
