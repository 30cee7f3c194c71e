import { expect, test } from 'vitest';
import { computeStudentTQuantile } from '../distributions.ts';

// scipy 1.17.1: scipy.stats.t.ppf(0.95, df) and scipy.stats.t.ppf(0.975, df). The error of jstat is below 1e-7.
test.each([
  [4, 2.1318467863266495, 2.7764451051977934],
  [5, 2.0150483733330233, 2.5705818356363146],
  [9, 1.833112932656237, 2.262157162798205],
  [19, 1.7291328115213682, 2.0930240544083087],
  [49, 1.6765508926168535, 2.0095752371292392],
  [299, 1.6499657674263895, 1.9679296690656698],
])('quantiles of Student’s t with %d degrees of freedom', (degrees, oneSided, twoSided) => {
  expect(computeStudentTQuantile(0.95, degrees)).toBeCloseTo(oneSided, 6);
  expect(computeStudentTQuantile(0.975, degrees)).toBeCloseTo(twoSided, 6);
});
