/** Browsers by the name in their user agent. Those that also name another browser come before it. */
const BROWSERS = [
  ['Edge', /\bEdg\w*\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//],
] as const;
const SYSTEMS = [
  ['Windows', /Windows NT/],
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const;

/** Returns the browser and system of a user agent, such as `Firefox 140 on Linux`, or the user agent if it names neither. */
export function describeBrowser(userAgent: string): string {
  for (const [browser, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([, systemPattern]) => systemPattern.test(userAgent))?.[0];
    return `${browser} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  return userAgent || 'unknown';
}
