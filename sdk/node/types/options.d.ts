/** The options of a company, from code or the environment, checked when the process starts and never in a request. */
import { CompanyKey, ProductKey } from './keys.js';
export type RequestCallback<Value> = (request: any) => Value | null | undefined;
export type OptionSettings = {
    /**
     * the product key, or AGENT_FEEDBACK_KEY
     */
    apiKey?: string;
    /**
     * the company key, or AGENT_FEEDBACK_COMPANY_KEY; with it, responses can request
     * customer context and the relay is mounted
     */
    companyKey?: string;
    /**
     * the address of the service, or AGENT_FEEDBACK_URL
     */
    endpoint?: string;
    /**
     * the name of the service in its consent questions
     */
    serviceName?: string;
    /**
     * path patterns: `*` is one segment, `**` any depth
     */
    include?: readonly string[];
    exclude?: readonly string[];
    /**
     * or AGENT_FEEDBACK_MODE
     */
    mode?: 'never_ask' | 'ask_once' | 'ask_always' | 'off';
    cacheMode?: 'safe' | 'private' | 'request';
    customerRef?: RequestCallback<string>;
    sessionRef?: RequestCallback<string>;
    runtimeHint?: RequestCallback<string> | 'user-agent';
    /**
     * names the operation of a request; its path does by default
     */
    operation?: RequestCallback<string>;
    /**
     * false means no envelope
     */
    shouldInstrument?: RequestCallback<boolean>;
    flushInterval?: number;
    maxQueueSize?: number;
    /**
     * for one request to the service
     */
    timeout?: number;
    maxAttempts?: number;
    shutdownTimeout?: number;
    maxBodyBytes?: number;
    consentCacheSize?: number;
    consentCacheTtl?: number;
    contextTimeout?: number;
    relayTimeout?: number;
    /**
     * called for each loss of telemetry
     */
    onDrop?: (reason: string, count: number) => void;
};
export type Options = {
    apiKey: ProductKey;
    companyKey: CompanyKey | null;
    endpoint: string;
    isEnabled: boolean;
    serviceName: string;
    include: readonly string[];
    exclude: readonly string[];
    mode: 'never_ask' | 'ask_once' | 'ask_always' | 'off';
    cacheMode: 'safe' | 'private' | 'request';
    customerRef: RequestCallback<string> | null;
    sessionRef: RequestCallback<string> | null;
    runtimeHint: RequestCallback<string> | 'user-agent' | null;
    operation: RequestCallback<string> | null;
    shouldInstrument: RequestCallback<boolean> | null;
    flushInterval: number;
    maxQueueSize: number;
    timeout: number;
    maxAttempts: number;
    shutdownTimeout: number;
    maxBodyBytes: number;
    consentCacheSize: number;
    consentCacheTtl: number;
    contextTimeout: number;
    relayTimeout: number;
    onDrop: ((reason: string, count: number) => void) | null;
};
export type Rule = Record<string, any>;
/**
 * Return the options of arguments and environment, arguments first, or throw `InvalidOption`.
 * @param {OptionSettings} [settings]
 * @returns {Readonly<Options>}
 */
export declare function readOptions(settings?: OptionSettings): Readonly<Options>;
/**
 * Return the company key of the argument or else of the environment, or throw `InvalidOption`.
 * @param {string} [argument]
 * @returns {CompanyKey | null}
 */
export declare function readCompanyKey(argument?: string): CompanyKey | null;
/**
 * Return the address of the service, of the argument or else of the environment, or throw `InvalidOption`.
 * @param {string} [argument]
 * @returns {string}
 */
export declare function readEndpoint(argument?: string): string;
/**
 * Tell whether the package is enabled: AGENT_FEEDBACK_ENABLED does not switch it off.
 * @returns {boolean}
 */
export declare function readKillSwitch(): boolean;
/**
 * Return a variable of the environment, trimmed; undefined where it is not set or empty.
 * @param {string} name
 * @returns {string | undefined}
 */
export declare function environment(name: string): string | undefined;
