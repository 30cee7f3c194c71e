/** The functions of jstat that distributions.ts uses; the package has no types of its own. */
declare module 'jstat' {
  interface Distributions {
    normal: {
      inv(probability: number, mean: number, deviation: number): number;
      cdf(value: number, mean: number, deviation: number): number;
    };
    studentt: { inv(probability: number, degrees: number): number };
    chisquare: { inv(probability: number, degrees: number): number };
    beta: { inv(probability: number, alpha: number, beta: number): number };
    /** The regularised incomplete beta function. */
    ibeta(x: number, a: number, b: number): number;
  }
  const jstat: { jStat: Distributions };
  export default jstat;
}
