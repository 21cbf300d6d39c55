// Names of discardable attributes.
//
// All discardable attributes of the `titan` dialect by name. docs/design.md describes them. Each
// name has a row in the table of DiscardableAttributes.cpp, which the verifier applies.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace titan::ir::attr {

// On the module: the run and its sources.
inline constexpr llvm::StringLiteral kRun = "titan.run";
inline constexpr llvm::StringLiteral kRunName = "titan.run_name";
inline constexpr llvm::StringLiteral kModel = "titan.model";
/// A hash of the operations that the loss needs, as 16 hexadecimal digits: a checkpoint of another
/// model has another one.
inline constexpr llvm::StringLiteral kFingerprint = "titan.fingerprint";
inline constexpr llvm::StringLiteral kSource = "titan.source";
inline constexpr llvm::StringLiteral kConfig = "titan.config";
/// The sizes of a step's data by their roles: `{samples, positions, vocab}`.
inline constexpr llvm::StringLiteral kSizes = "titan.sizes";
/// The dimensions that have the roles `samples` and `positions` (DataDimsAttr).
inline constexpr llvm::StringLiteral kDataDims = "titan.data_dims";
/// Inputs that settings would add, by name: `{weights = "model.answers=true"}`.
inline constexpr llvm::StringLiteral kAbsentInputs = "titan.absent_inputs";
inline constexpr llvm::StringLiteral kWeights = "titan.weights";
/// Unit: each output of @eval is a constant plus a sum over samples.
inline constexpr llvm::StringLiteral kSumsOverSamples = "titan.sums_over_samples";
inline constexpr llvm::StringLiteral kFlopsPerToken = "titan.flops_per_token";
inline constexpr llvm::StringLiteral kModelFlopsPerToken = "titan.model_flops_per_token";
/// The last phase whose pipeline ran, so that a later compilation continues after it: `"shard"`.
inline constexpr llvm::StringLiteral kPhase = "titan.phase";
/// The passes that were inserted into the phases, as written: `["after:model=cse"]`.
inline constexpr llvm::StringLiteral kInserted = "titan.inserted";
/// The libraries with passes that were loaded for them: `["libmine.so 0123456789abcdef"]`, each
/// with a digest of its content.
inline constexpr llvm::StringLiteral kPlugins = "titan.plugins";

// On program functions.
inline constexpr llvm::StringLiteral kProgram = "titan.program";
/// On @train: the greatest norm of all gradients together.
inline constexpr llvm::StringLiteral kClip = "titan.clip";
/// On @train: the greatest magnitude of an element of a gradient, after clipping by the norm.
inline constexpr llvm::StringLiteral kClipValue = "titan.clip_value";
/// On @train: a step whose loss or norm is not finite updates nothing.
inline constexpr llvm::StringLiteral kSkipNonFinite = "titan.skip_nonfinite";
/// The declared element types (ElementTypes.h).
inline constexpr llvm::StringLiteral kPrecision = "titan.precision";
/// On a train program, input of --titan-accumulate: `{dim = "batch", microbatches = 4}`.
inline constexpr llvm::StringLiteral kAccumulate = "titan.accumulate";
/// On a train program, input of --titan-chunk-loss: the number of chunks. 0 or absent: the pass
/// chooses.
inline constexpr llvm::StringLiteral kLossChunks = "titan.loss_chunks";

/// On @logits: why no program computes the logits of new positions from caches.
inline constexpr llvm::StringLiteral kUncached = "titan.uncached";
/// On a train program that is one of several: the steps in which it runs (TurnAttr).
inline constexpr llvm::StringLiteral kTurn = "titan.turn";

// On functions of optimizers and their arguments.
inline constexpr llvm::StringLiteral kOptimizer = "titan.optimizer";
/// "parameter" or "gradient".
inline constexpr llvm::StringLiteral kOperand = "titan.operand";

// On the scalar function of a learning-rate schedule: the source of each argument. It is `step`,
// `steps` or the path of a setting. The argument is the setting's number, or the index of its word
// among the choices. The first schedule of the module is that of the run.
inline constexpr llvm::StringLiteral kSchedule = "titan.schedule";

// On the scalar function that computes an output of evaluations: the name of this output, and for
// each argument the output of @eval whose mean over batches it is.
inline constexpr llvm::StringLiteral kEvaluates = "titan.evaluates";
inline constexpr llvm::StringLiteral kBatchValues = "titan.batch_values";

// On arguments of program functions.
inline constexpr llvm::StringLiteral kInput = "titan.input";
/// On an integer input that is read from arrays: the interpreter draws its values from [0, N).
inline constexpr llvm::StringLiteral kDrawnBelow = "titan.drawn_below";
/// On an integer input: the least and the greatest number that the program can use as an index.
inline constexpr llvm::StringLiteral kIndexRange = "titan.index_range";
inline constexpr llvm::StringLiteral kParam = "titan.param";
inline constexpr llvm::StringLiteral kInit = "titan.init";
inline constexpr llvm::StringLiteral kRateScale = "titan.lr_scale";
/// On trained parameters of @train, until the gradient phase: the optimizer that updates it.
inline constexpr llvm::StringLiteral kUpdatedBy = "titan.updated_by";
/// On trained parameters of @train, until the gradient phase: the schedule of its learning rate.
/// Absent: that of the run.
inline constexpr llvm::StringLiteral kScheduledBy = "titan.scheduled_by";
/// On a trained parameter of @train, until --titan-split-turns: the names of the losses whose sum
/// it minimises. Absent: the sum of all losses.
inline constexpr llvm::StringLiteral kLosses = "titan.losses";
/// On a trained parameter of a train program: the steps that update it (PeriodAttr). Absent: all.
inline constexpr llvm::StringLiteral kPeriod = "titan.period";
inline constexpr llvm::StringLiteral kFrozen = "titan.frozen";
inline constexpr llvm::StringLiteral kInitFrom = "titan.init_from";
/// A parameter that is not trained; @train returns its next value (docs/rationale/buffers.md).
inline constexpr llvm::StringLiteral kBuffer = "titan.buffer";
inline constexpr llvm::StringLiteral kState = "titan.state";
inline constexpr llvm::StringLiteral kScalar = "titan.scalar";
/// In programs of generation: operands at earlier positions, to which the program adds new ones
/// (docs/rationale/generation.md).
inline constexpr llvm::StringLiteral kCache = "titan.cache";
/// On an input of a fragment: the fragment reads the slot of its microbatch.
inline constexpr llvm::StringLiteral kMicrobatch = "titan.microbatch";
/// In tests: the value of the argument, row-major.
inline constexpr llvm::StringLiteral kValue = "titan.value";

// On arguments and results of program functions.
inline constexpr llvm::StringLiteral kStacked = "titan.stacked";
/// Also on repeats: the stage of the pipeline, counted from 0. Arguments of several stages share a
/// name and differ in their slots.
inline constexpr llvm::StringLiteral kStage = "titan.stage";
/// On repeats of a function: the iterations of the model's repeats over the same dimension before
/// this one. A program may lack some of these repeats.
inline constexpr llvm::StringLiteral kFirstLayer = "titan.first_layer";
/// On padded arguments and results: their sizes without padding, which files and initial values
/// use. The padding is zero.
inline constexpr llvm::StringLiteral kUnpadded = "titan.unpadded";

/// On arguments and results of fragments: a value that one fragment computes and others read, kept
/// for each microbatch or for the step. The string is its name.
inline constexpr llvm::StringLiteral kStash = "titan.stash";
inline constexpr llvm::StringLiteral kStepValue = "titan.step_value";

// On results of program functions.
inline constexpr llvm::StringLiteral kOutput = "titan.output";
/// On an output: each rank may return its unreduced value.
inline constexpr llvm::StringLiteral kUnreduced = "titan.unreduced";
inline constexpr llvm::StringLiteral kGradient = "titan.gradient";
inline constexpr llvm::StringLiteral kUpdates = "titan.updates";

// On operations.
/// In a repeat: the backward pass recomputes the operation.
inline constexpr llvm::StringLiteral kRecompute = "titan.recompute";
/// On operations of the model, if the run's `recompute` names blocks: the enclosing blocks,
/// innermost first.
inline constexpr llvm::StringLiteral kBlocks = "titan.blocks";
/// On operations of the backward pass: "wgrad" or "dgrad".
inline constexpr llvm::StringLiteral kGradKind = "titan.grad_kind";
/// On sharding constraints: the name by which overrides refer to the value. The cotangent has the
/// same name.
inline constexpr llvm::StringLiteral kName = "titan.name";

// The memory plan (MemoryPlan.h).
inline constexpr llvm::StringLiteral kResultAllocs = "titan.result_allocs";
inline constexpr llvm::StringLiteral kArgumentAllocs = "titan.argument_allocs";
inline constexpr llvm::StringLiteral kScratch = "titan.scratch";
inline constexpr llvm::StringLiteral kTransient = "titan.transient";
inline constexpr llvm::StringLiteral kEvents = "titan.events";
inline constexpr llvm::StringLiteral kPersistent = "titan.persistent";
inline constexpr llvm::StringLiteral kStackOverlaps = "titan.stack_overlaps";

} // namespace titan::ir::attr
