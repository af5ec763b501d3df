//! The functions of the caller that gradients call, and the call that they are told of.

use crate::error::{Result, THStatus, bail};
use crate::ops::view;
use crate::tensor::{THTensor, Tensor};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::null;

/// The call of a function of the caller, which the function is handed.
pub struct THGradCall {
    /// Which inputs need a gradient.
    pub needs: Vec<bool>,
    /// The addresses of the inputs, so that what is saved is known as one of them.
    pub inputs: Vec<usize>,
    /// Those of the results.
    pub outputs: Vec<usize>,
    /// What was saved.
    pub saved: RefCell<SavedList>,
    /// The call that this one runs inside of on the same thread.
    outer: Cell<*const THGradCall>,
}

/// Saved tensors, each with its role and the version of its storage.
pub type SavedList = Vec<(Tensor, Role, u64)>;

thread_local! {
    /// The innermost call that runs on this thread.
    static INNERMOST: Cell<*const THGradCall> = const { Cell::new(null()) };
}

/// A call is open until the value is dropped.
pub struct Open<'a>(&'a THGradCall);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        INNERMOST.set(self.0.outer.get());
    }
}

/// What a saved tensor is of the call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An input.
    Input(usize),
    /// A result.
    Output(usize),
    /// Something else that was computed.
    Other,
}

impl THGradCall {
    /// A call with these inputs and outputs, by their addresses.
    pub fn new(needs: Vec<bool>, inputs: Vec<usize>, outputs: Vec<usize>, saved: SavedList) -> THGradCall {
        THGradCall { needs, inputs, outputs, saved: RefCell::new(saved), outer: Cell::new(null()) }
    }

    /// Opens the call for the function that it is passed to.
    pub fn open(&self) -> Open<'_> {
        self.outer.set(INNERMOST.replace(self));
        Open(self)
    }

    /// Returns true if `call` is open on this thread. The function may have kept the pointer, and the call be gone.
    pub fn is_open(call: *const THGradCall) -> bool {
        let mut open = INNERMOST.get();
        while !open.is_null() && !std::ptr::eq(open, call) {
            // SAFETY: open calls are alive; `Open` takes each off the chain before its end.
            open = unsafe { (*open).outer.get() };
        }
        !open.is_null()
    }

    /// Keeps a tensor for the gradient.
    pub fn save(&self, t: &Tensor) -> Result<()> {
        let at = t.as_ptr().addr();
        let input = self.inputs.iter().position(|&input| input == at).map(Role::Input);
        let output = self.outputs.iter().position(|&output| output == at).map(Role::Output);
        let mut saved = self.saved.borrow_mut();
        if saved.try_reserve(1).is_err() {
            bail!(NoMem, "out of memory for a list of saved tensors")
        }
        // What is computed apart stays as it is: a reference is enough.
        let kept = if input.or(output).is_some() { view::alias(t)? } else { t.clone() };
        saved.push((kept, input.or(output).unwrap_or(Role::Other), 0));
        Ok(())
    }

    /// A new reference to the tensor that was saved as number `index`.
    pub fn saved(&self, index: i64) -> Result<Tensor> {
        let saved = self.saved.borrow();
        match usize::try_from(index).ok().and_then(|index| saved.get(index)) {
            Some((t, ..)) => Ok(t.clone()),
            None => bail!(Argument, "index {index} of {} saved tensors", saved.len()),
        }
    }

    /// Returns true if the gradient of an input is wanted.
    pub fn needs(&self, index: i64) -> Result<bool> {
        match usize::try_from(index).ok().and_then(|index| self.needs.get(index)) {
            Some(&needs) => Ok(needs),
            None => bail!(Argument, "index {index} of {} inputs", self.needs.len()),
        }
    }
}

/// Called with a gradient while backward runs.
///
/// It stores in `replacement` a new reference to a tensor of the same shape and dtype that is to take the place of the gradient, or leaves
/// NULL there. 0 means go on; anything else stops backward, which returns it. `gradient` is borrowed and must not be changed.
pub type THGradHook =
    Option<unsafe extern "C" fn(gradient: *const THTensor, replacement: *mut *mut THTensor, context: *mut c_void) -> THStatus>;

/// Computes results from inputs, for `THGrad_checkpoint` and `THGrad_check`.
///
/// It writes to the `outputCount` handles in `outputs`, which are fresh. 0 means go on; anything else is what the caller of it returns.
/// The tensors are borrowed.
pub type THGradFunction = Option<
    unsafe extern "C" fn(
        inputs: *const *const THTensor,
        inputCount: c_int,
        outputs: *const *mut THTensor,
        outputCount: c_int,
        context: *mut c_void,
    ) -> THStatus,
>;

/// Computes `to` from `from`, for `THGrad_apply`: the results of a function from its inputs, or the gradients of its inputs from those of
/// its results.
///
/// The first is not recorded, writes to fresh handles, and saves by `THGrad_save` what the second needs. To the second an entry of `from`
/// is NULL where the gradient of a result is 0; an entry of `to` is a fresh handle to be written to, or left alone, which stands for 0,
/// and NULL for an input that needs no gradient. 0 means go on; anything else is what `THGrad_apply`, or backward, returns. The tensors
/// are borrowed.
pub type THGradRule = Option<
    unsafe extern "C" fn(
        call: *mut THGradCall,
        from: *const *const THTensor,
        fromCount: c_int,
        to: *const *mut THTensor,
        toCount: c_int,
        context: *mut c_void,
    ) -> THStatus,
>;

/// Computes a loss and the gradients of an optimizer's parameters, for `THOptim_stepClosure`.
///
/// It stores the loss in `loss`, and leaves the gradients with the parameters, as `THTensor_backward` does after `THOptim_zeroGrad`. 0
/// means go on; anything else ends the step, which returns it.
pub type THOptimClosure = Option<unsafe extern "C" fn(context: *mut c_void, loss: *mut f64) -> THStatus>;
