/** The product with Express 5. */

import express from 'express';
import { start } from './express_product.js';

start(express);
