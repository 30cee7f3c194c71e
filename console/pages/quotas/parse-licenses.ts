import { isLicenseName } from '@switchyard/contract/applications/requirements.ts';
import { LICENSE_TOKENS_MAX, LICENSES_MAX } from '@switchyard/contract/limits.ts';

export interface LicenseTotal {
  name: string;
  total: number;
}

/** Returns the licences as lines of `name = total`. */
export function formatLicenses(licenses: readonly LicenseTotal[]): string {
  return licenses.map(({ name, total }) => `${name} = ${total}`).join('\n');
}

/** Parses lines of `name = total`; returns the number of the first line that is none, from 1. */
export function parseLicenses(text: string): LicenseTotal[] | { invalidLine: number } {
  const licenses: LicenseTotal[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name = '', digits = ''] = /^\s*(\S+)\s*=\s*(\d+)\s*$/.exec(line) ?? [];
    const total = Number(digits);
    const isValid =
      isLicenseName(name) &&
      total <= LICENSE_TOKENS_MAX &&
      licenses.length < LICENSES_MAX &&
      !licenses.some((one) => one.name === name);
    if (!isValid) return { invalidLine: index + 1 };
    licenses.push({ name, total });
  }
  return licenses;
}
