export { createStoreBlobs, sealBlobs } from "./blobs.ts";
export type { BlobSealer, BlobStore, Limits } from "./blobs.ts";
export type { Root } from "./scan-folders.ts";
export { createS3Blobs, parseS3Url } from "./s3-blobs.ts";
export type { S3BlobsSettings, S3Place } from "./s3-blobs.ts";
export { nextSessionNumber } from "./shared-copy.ts";
export { createWorkspaceSync, deleteSharedWorkspace } from "./synced-workspace.ts";
export type { WorkspaceSyncSettings } from "./synced-workspace.ts";
