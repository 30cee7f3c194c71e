/** The part of picomatch that this package uses; it has no types of its own. */
declare module 'picomatch' {
  interface Picomatch {
    (pattern: string, options?: { dot?: boolean }): (name: string) => boolean;
    /** Returns the folder before the first part with a wildcard. */
    scan(pattern: string): { base: string; isGlob: boolean };
  }
  const picomatch: Picomatch;
  export default picomatch;
}
