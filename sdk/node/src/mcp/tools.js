/** The five tools for agents: each forwards one kind of body to the service, with the authorization of the envelope. */

import decision from '../../protocol/schemas/decision.json' with { type: 'json' };
import answer from '../../protocol/schemas/enrichment-answer.json' with { type: 'json' };
import choice from '../../protocol/schemas/enrichment-choice.json' with { type: 'json' };
import outcome from '../../protocol/schemas/outcome.json' with { type: 'json' };
import report from '../../protocol/schemas/report.json' with { type: 'json' };
import { post } from '../agent/requests.js';
import { ServiceRefused, ServiceUnavailable } from '../errors.js';
import { contract, instructions } from '../protocol.js';
import { isObject } from './results.js';

const TEXTS = instructions.mcp;
const { paths: PATHS } = contract;
const CAPABILITY = new RegExp(`^${contract.capability.prefix}[A-Za-z0-9._-]{16,2048}$`);
const HANDLE = new RegExp(contract.relay.handle);
const SCHEME = /^bearer\s+/i;

/**
 * @typedef {object} ToolKind where a tool's body goes, which schema it has, and what authorizes it
 * @property {string} path
 * @property {{required: string[], properties: Record<string, any>}} schema
 * @property {RegExp} credential
 */

/** @type {ToolKind[]} */
const KINDS = [
  { path: PATHS.outcomes, schema: outcome, credential: CAPABILITY },
  { path: PATHS.reports, schema: report, credential: CAPABILITY },
  { path: PATHS.decisions, schema: decision, credential: CAPABILITY },
  { path: PATHS.answers, schema: answer, credential: HANDLE },
  { path: PATHS.contextConsent, schema: choice, credential: HANDLE },
];

/** @type {Map<string, ToolKind>} */
const TOOLS = new Map(KINDS.map((kind, index) => [contract.mcp.tools[index], kind]));

/** Return the tools as `tools/list` has them. */
export function describeTools() {
  return [...TOOLS].map(([name, { schema }]) => ({
    name,
    title: TEXTS.tools[name].title,
    description: TEXTS.tools[name].description,
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['authorization', ...schema.required],
      properties: { authorization: { type: 'string', description: TEXTS.authorization }, ...schema.properties },
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  }));
}

/**
 * Forward the arguments of a call and resolve to its result; no error of the service is thrown.
 *
 * @param {string} name
 * @param {unknown} callArguments
 * @param {{endpoint: string, relayTimeout: number}} options
 * @param {AbortSignal} [signal]
 */
export async function callServiceTool(name, callArguments, { endpoint, relayTimeout }, signal) {
  const { path, schema, credential } = /** @type {ToolKind} */ (TOOLS.get(name));
  const { authorization, ...members } = isObject(callArguments) ? callArguments : {};
  const token = readToken(authorization, credential);
  if (token === null) {
    return failure('unauthorized');
  }
  if (!isBody(members, schema)) {
    return failure('invalid');
  }
  try {
    const options = { timeoutMs: relayTimeout, ...(signal ? { signal } : {}) };
    return asResult(await post(endpoint + path, `Bearer ${token}`, members, options), false);
  } catch (error) {
    return refusal(error);
  }
}

/**
 * Return the result of a call that the service has not answered with 200.
 *
 * @param {unknown} error
 */
function refusal(error) {
  if (error instanceof ServiceRefused && isObject(error.body) && error.status >= 400) {
    return asResult(error.body, true);
  }
  // Redirects are not followed, and what is no JSON object is an answer of something between.
  if (error instanceof ServiceRefused || error instanceof ServiceUnavailable) {
    return failure('unavailable');
  }
  throw error;
}

/**
 * @param {Record<string, any>} content
 * @param {boolean} isError
 */
function asResult(content, isError) {
  return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content, isError };
}

/**
 * Return the token of an authorization, with or without its scheme; null where it has another form.
 *
 * @param {unknown} authorization
 * @param {RegExp} credential
 */
function readToken(authorization, credential) {
  const token = typeof authorization === 'string' ? authorization.trim().replace(SCHEME, '') : '';
  return credential.test(token) ? token : null;
}

/**
 * Tell whether a body has members of its schema only, and is not too long.
 *
 * @param {Record<string, any>} members
 * @param {ToolKind['schema']} schema
 */
function isBody(members, schema) {
  const hasOthers = Object.keys(members).some((name) => !Object.hasOwn(schema.properties, name));
  return !hasOthers && new TextEncoder().encode(JSON.stringify(members)).length <= contract.relay.maxBodyBytes;
}

/** @param {string} name */
function failure(name) {
  return { content: [{ type: 'text', text: TEXTS.failures[name] }], isError: true };
}
