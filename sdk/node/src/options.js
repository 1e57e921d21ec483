/** The options of a company, from code or the environment, checked when the process starts and never in a request. */

import { InvalidOption } from './errors.js';
import { CompanyKey, ProductKey } from './keys.js';
import { contract } from './protocol.js';

/**
 * What a product may say of a request; the request is the framework's own object.
 * @template Value
 * @typedef {(request: any) => Value | null | undefined} RequestCallback
 */

/**
 * The options as code gives them; times in milliseconds.
 * @typedef {object} OptionSettings
 * @property {string} [apiKey] the product key, or AGENT_FEEDBACK_KEY
 * @property {string} [companyKey] the company key, or AGENT_FEEDBACK_COMPANY_KEY; with it, responses can request
 *   customer context and the relay is mounted
 * @property {string} [endpoint] the address of the service, or AGENT_FEEDBACK_URL
 * @property {string} [serviceName] the name of the service in its consent questions
 * @property {readonly string[]} [include] path patterns: `*` is one segment, `**` any depth
 * @property {readonly string[]} [exclude]
 * @property {'never_ask' | 'ask_once' | 'ask_always' | 'off'} [mode] or AGENT_FEEDBACK_MODE
 * @property {'safe' | 'private' | 'request'} [cacheMode]
 * @property {RequestCallback<string>} [customerRef]
 * @property {RequestCallback<string>} [sessionRef]
 * @property {RequestCallback<string> | 'user-agent'} [runtimeHint]
 * @property {RequestCallback<string>} [operation] names the operation of a request; its path does by default
 * @property {RequestCallback<boolean>} [shouldInstrument] false means no envelope
 * @property {number} [flushInterval]
 * @property {number} [maxQueueSize]
 * @property {number} [timeout] for one request to the service
 * @property {number} [maxAttempts]
 * @property {number} [shutdownTimeout]
 * @property {number} [maxBodyBytes]
 * @property {number} [consentCacheSize]
 * @property {number} [consentCacheTtl]
 * @property {number} [contextTimeout]
 * @property {number} [relayTimeout]
 * @property {(reason: string, count: number) => void} [onDrop] called for each loss of telemetry
 */

/**
 * The options in force.
 * @typedef {object} Options
 * @property {ProductKey} apiKey
 * @property {CompanyKey | null} companyKey
 * @property {string} endpoint
 * @property {boolean} isEnabled
 * @property {string} serviceName
 * @property {readonly string[]} include
 * @property {readonly string[]} exclude
 * @property {'never_ask' | 'ask_once' | 'ask_always' | 'off'} mode
 * @property {'safe' | 'private' | 'request'} cacheMode
 * @property {RequestCallback<string> | null} customerRef
 * @property {RequestCallback<string> | null} sessionRef
 * @property {RequestCallback<string> | 'user-agent' | null} runtimeHint
 * @property {RequestCallback<string> | null} operation
 * @property {RequestCallback<boolean> | null} shouldInstrument
 * @property {number} flushInterval
 * @property {number} maxQueueSize
 * @property {number} timeout
 * @property {number} maxAttempts
 * @property {number} shutdownTimeout
 * @property {number} maxBodyBytes
 * @property {number} consentCacheSize
 * @property {number} consentCacheTtl
 * @property {number} contextTimeout
 * @property {number} relayTimeout
 * @property {((reason: string, count: number) => void) | null} onDrop
 */

/** @typedef {Record<string, any>} Rule an entry of `options` in the protocol */

/** @type {Record<string, Rule>} */
const RULES = contract.options;
const URL_PARTS = /^(https?):\/\/(\[[0-9a-f:.]+\]|[^\\/?#@:[\]]+)(?::[0-9]+)?(?:\/[^\\?#]*)?$/i;
const PRINTABLE_ASCII = /^[!-~]+$/;

/**
 * Return the options of arguments and environment, arguments first, or throw `InvalidOption`.
 * @param {OptionSettings} [settings]
 * @returns {Readonly<Options>}
 */
export function readOptions(settings = {}) {
  const names = Object.keys(RULES);
  const unknownName = Object.keys(settings).find((name) => !names.includes(name));
  if (unknownName !== undefined) {
    throw new InvalidOption(`${unknownName}: there is no such option; there are ${names.join(', ')}`);
  }
  /** @type {Record<string, any>} */
  const options = { isEnabled: readKillSwitch() };
  for (const name of names) {
    const argument = /** @type {Record<string, unknown>} */ (settings)[name];
    // Where nothing is done, nothing is needed.
    options[name] = readOption(name, argument, { isOptional: !options.isEnabled });
  }
  return Object.freeze(/** @type {Options} */ (options));
}

/**
 * Return the company key of the argument or else of the environment, or throw `InvalidOption`.
 * @param {string} [argument]
 * @returns {CompanyKey | null}
 */
export function readCompanyKey(argument) {
  return readOption('companyKey', argument);
}

/**
 * Return the address of the service, of the argument or else of the environment, or throw `InvalidOption`.
 * @param {string} [argument]
 * @returns {string}
 */
export function readEndpoint(argument) {
  return readOption('endpoint', argument);
}

/**
 * Tell whether the package is enabled: AGENT_FEEDBACK_ENABLED does not switch it off.
 * @returns {boolean}
 */
export function readKillSwitch() {
  const { environment: variable, off } = contract.killSwitch;
  return !off.includes((environment(variable) ?? '').toLowerCase());
}

/**
 * Return a variable of the environment, trimmed; undefined where it is not set or empty.
 * @param {string} name
 * @returns {string | undefined}
 */
export function environment(name) {
  return globalThis.process?.env?.[name]?.trim() || undefined;
}

/**
 * Return an argument or else a variable of the environment, trimmed; undefined without either.
 * @param {string} variable
 * @param {unknown} argument
 * @returns {unknown}
 */
function readSource(variable, argument) {
  return (typeof argument === 'string' ? argument.trim() : argument) ?? environment(variable);
}

/**
 * @param {string} name
 * @param {unknown} argument
 * @param {{isOptional?: boolean}} [settings] whether an option may be missing that is required otherwise
 * @returns {any}
 */
function readOption(name, argument, { isOptional = false } = {}) {
  const rule = RULES[name];
  const source = rule.environment ? readSource(rule.environment, argument) : (argument ?? undefined);
  if (source === undefined && (isOptional || !rule.isRequired)) {
    return rule.default;
  }
  const read = READERS[rule.type];
  const result = read(source, rule);
  if (result === undefined) {
    const variable = rule.environment ? ` (or ${rule.environment})` : '';
    throw new InvalidOption(`${name}${variable}: ${REQUIREMENTS[rule.type](rule, name)}`);
  }
  return result;
}

/**
 * What each type of option makes of a value: undefined where the value cannot be used.
 * @type {Record<string, (value: any, rule: Rule) => unknown>}
 */
const READERS = {
  key: readKey,
  url: readUrl,
  text: (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
  patterns: readPatterns,
  choice: (value, rule) => (rule.allowed.includes(value) ? value : undefined),
  callback: (value, rule) => (isSynchronous(value) || rule.allowed?.includes(value) ? value : undefined),
  milliseconds: (value, rule) => (Number.isFinite(value) && value > rule.exclusiveMinimum ? value : undefined),
  integer: (value, rule) => (Number.isInteger(value) && value >= rule.minimum ? value : undefined),
};

/** @type {Record<string, (rule: Rule, name: string) => string>} */
const REQUIREMENTS = {
  key: (_, name) => `a key like ${name === 'apiKey' ? 'af_live' : 'af_company'}_<32 hex digits>_<secret> is needed`,
  url: () => 'an https URL without credentials, query or fragment is needed; http only for the machine itself',
  text: () => 'a text is needed',
  patterns: () => 'a list of path patterns is needed, each from / or *',
  choice: (rule) => `one of ${rule.allowed.join(', ')} is needed`,
  callback: (rule) => ['a function that is not async', ...(rule.allowed ?? [])].join(' or ') + ' is needed',
  milliseconds: (rule) => `a number of milliseconds above ${rule.exclusiveMinimum} is needed`,
  integer: (rule) => `a whole number of at least ${rule.minimum} is needed`,
};

/**
 * Tell whether a value is a function that does not return a promise: the response does not wait for callbacks.
 * @param {unknown} value
 */
function isSynchronous(value) {
  return typeof value === 'function' && Object.prototype.toString.call(value) !== '[object AsyncFunction]';
}

/**
 * @param {unknown} value
 * @param {Rule} rule
 */
function readKey(value, rule) {
  if (typeof value !== 'string' || !new RegExp(rule.pattern).test(value)) {
    return undefined;
  }
  return rule.isRequired ? new ProductKey(value) : new CompanyKey(value);
}

/** @param {unknown} value */
function readUrl(value) {
  const url = typeof value === 'string' ? value.replace(/\/+$/, '') : '';
  const [, scheme, host] = URL_PARTS.exec(url) ?? [];
  if (scheme === undefined || !PRINTABLE_ASCII.test(url) || !isAddress(url)) {
    return undefined;
  }
  const isLoopback = contract.loopbackHosts.includes(host.replace(/^\[|\]$/g, '').toLowerCase());
  return scheme.toLowerCase() === 'https' || isLoopback ? url : undefined;
}

/** @param {string} url */
function isAddress(url) {
  try {
    return new URL(url).port !== '0';
  } catch {
    return false;
  }
}

/** @param {unknown} value */
function readPatterns(value) {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string' && /^[/*]/.test(item));
  return isList ? Object.freeze([...value]) : undefined;
}
