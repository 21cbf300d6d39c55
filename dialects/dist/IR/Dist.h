// The `dist` dialect: attributes.
//
// Meshes and shardings. This header has attributes only, because the `titan` tensor type contains a
// sharding. The operations of `dist` need that tensor type and are in DistOps.h.
#pragma once

#include "base/layout/DimShard.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/dist/IR/DistDialect.h.inc"
#include "dialects/dist/IR/DistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/IR/DistAttrs.h.inc"
