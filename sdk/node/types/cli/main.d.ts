#!/usr/bin/env node
/** The program `agent-feedback`. */
export {};
