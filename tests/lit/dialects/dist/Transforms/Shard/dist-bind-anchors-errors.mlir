// RUN: titan-opt --dist-bind-anchors -verify-diagnostics -split-input-file %s

// One axis has one map.
dist.mesh @mesh [#dist.axis<t = 2>]
// expected-note @+1 {{the other map is here}}
dist.map "t" splits ["ffn"] otherwise [] stores []
// expected-error @+1 {{axis "t" has a map already}}
dist.map "t" splits ["heads"] otherwise [] stores []
