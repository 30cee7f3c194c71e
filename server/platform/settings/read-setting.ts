/** Readers of single settings. Each throws a ConfigError that names the variable, its value and the values that it may have. */
import { ConfigError } from '../config-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns one of the choices; the fallback for a variable that is absent or empty. */
export function readChoice<const T extends readonly string[]>(
  env: Environment,
  name: string,
  choices: T,
  fallback: T[number],
): T[number] {
  const value = env[name] || fallback;
  const choice = choices.find((one) => one === value);
  if (choice === undefined)
    throw new ConfigError(`${name} is "${value}"; it must be one of ${choices.join(', ')}.`);
  return choice;
}

/** Returns a whole number within the bounds; the fallback for a variable that is absent or empty. */
export function readInteger(
  env: Environment,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = env[name];
  if (!text) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max) {
    throw new ConfigError(`${name} is "${text}"; it must be a whole number from ${min} to ${max}.`);
  }
  return value;
}

/** Returns the text of a variable that the setting `neededBy` needs. */
export function readRequired(
  env: Environment,
  name: string,
  { neededBy, meaning }: { neededBy: string; meaning: string },
): string {
  const value = env[name];
  if (value) return value;
  throw new ConfigError(`${name} is missing, and ${neededBy} needs it: ${meaning}.`);
}
