/** Ask the agents that use your product whether it worked. */
export { AgentFeedback } from './client.js';
export { Context, CustomerContext } from './context/index.js';
export { InvalidOption, ServiceError, ServiceRefused, ServiceUnavailable } from './errors.js';
export { Interaction } from './interaction.js';
export { VERSION } from './version.js';
export type OptionSettings = import('./options.js').OptionSettings;
export type Options = import('./options.js').Options;
export type Envelope = import('./envelope.js').Envelope;
export type ContextItem = import('./context/context.js').ContextItem;
/** @typedef {import('./options.js').OptionSettings} OptionSettings */
/** @typedef {import('./options.js').Options} Options */
/** @typedef {import('./envelope.js').Envelope} Envelope */
/** @typedef {import('./context/context.js').ContextItem} ContextItem */
