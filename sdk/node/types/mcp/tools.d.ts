/** The five tools for agents: each forwards one kind of body to the service, with the authorization of the envelope. */
export type ToolKind = {
    path: string;
    schema: {
        required: string[];
        properties: Record<string, any>;
    };
    credential: RegExp;
};
/** Return the tools as `tools/list` has them. */
export declare function describeTools(): {
    name: string;
    title: any;
    description: any;
    inputSchema: {
        type: string;
        additionalProperties: boolean;
        required: string[];
        properties: {
            authorization: {
                type: string;
                description: any;
            };
        };
    };
    annotations: {
        readOnlyHint: boolean;
        destructiveHint: boolean;
        idempotentHint: boolean;
        openWorldHint: boolean;
    };
}[];
/**
 * Forward the arguments of a call and resolve to its result; no error of the service is thrown.
 *
 * @param {string} name
 * @param {unknown} callArguments
 * @param {{endpoint: string, relayTimeout: number}} options
 * @param {AbortSignal} [signal]
 */
export declare function callServiceTool(name: string, callArguments: unknown, { endpoint, relayTimeout }: {
    endpoint: string;
    relayTimeout: number;
}, signal?: AbortSignal): Promise<{
    content: {
        type: string;
        text: any;
    }[];
    isError: boolean;
}>;
