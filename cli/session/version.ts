/** The version of this release. */
import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
