/** The version of this package. */

import manifest from '../package.json' with { type: 'json' };

export const VERSION = manifest.version;

/** The User-Agent of every request to the service. */
export const USER_AGENT = `agent-feedback-node/${VERSION}`;
