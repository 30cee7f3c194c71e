/** Checks of an address and a token before the first request, whose error would name neither. */
import { CommandError } from '../errors/command-error.ts';

/** Returns the address of a server as `https://host:port`. Throws CommandError for any other text; `name` is its source. */
export function parseServerUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:\/\//i.test(text))
    throw new CommandError(
      `${name} is "${text}"; it must begin with https:// or http://, such as http://127.0.0.1:8080.`,
    );
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new CommandError(
      `${name} is "${url.origin}${url.pathname}"; give the address of the server alone: ${url.origin}`,
    );
  return url.origin;
}

/** Returns the token. Throws CommandError for one that no header can carry, without its text; `name` is its source. */
export function checkToken(name: string, token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CommandError(
    `${name} has a space or a character that no token has. Copy the token again, without quotes and line feeds.`,
  );
}
