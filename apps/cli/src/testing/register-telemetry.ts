// What a user preloads with `node --import`: the SDK as the OTEL_* variables say.
import { NodeSDK } from "@opentelemetry/sdk-node";

new NodeSDK().start();
