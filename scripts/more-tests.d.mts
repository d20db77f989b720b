export function findMoreTests(folder: string): string[];
