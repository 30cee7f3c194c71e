/** Prints what a build that began at `started` (`performance.now()`) has made, or that it had nothing to do. */
export function reportBuild(
  { path, wasBuilt, built = path }: { path: string; wasBuilt: boolean; built?: string },
  started: number,
): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    wasBuilt ? `Built ${built} in ${seconds} s.` : `Nothing has changed since the last build of ${path}.`,
  );
}
